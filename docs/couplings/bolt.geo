// Half of a bolt that clamps a sleeve onto a base; its shank is cut across at z = 10: gmsh -3 bolt.geo -o bolt.msh
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, -8, 0, 0, 8, 14, Pi};     // base
Cylinder(2) = {0, 0, 0, 0, 0, 10, 5, Pi};      // shank, in two halves
Cylinder(3) = {0, 0, 10, 0, 0, 10, 5, Pi};
Cylinder(4) = {0, 0, 20, 0, 0, 6, 14, Pi};     // head
Cylinder(5) = {0, 0, 0, 0, 0, 20, 14, Pi};     // sleeve
Cylinder(6) = {0, 0, 0, 0, 0, 20, 6, Pi};
BooleanDifference(7) = {Volume{5}; Delete;}{Volume{6}; Delete;};
Coherence;

Physical Volume("joint") = {Volume{:}};
Physical Surface("section") = {Surface In BoundingBox{-6, -1, 9, 6, 6, 11}};
Physical Surface("symmetry") = {Surface In BoundingBox{-15, -1, -9, 15, 0.1, 27}};
Physical Surface("foot") = {Surface In BoundingBox{-15, -1, -9, 15, 15, -7}};
Physical Surface("head") = {Surface In BoundingBox{-15, -1, 25, 15, 15, 27}};

Mesh.MeshSizeMax = 4;
Mesh.MeshSizeFromCurvature = 16;
Mesh.ElementOrder = 2;
Mesh.HighOrderOptimize = 1;
