// A sixth of a disk with six holes: gmsh -3 cyclic.geo -o cyclic.msh
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, 0, 0, 0, 0.02, 0.2, Pi/3};
Cylinder(2) = {0, 0, 0, 0, 0, 0.02, 0.05, Pi/3};
Cylinder(3) = {0.13*Cos(Pi/4.5), 0.13*Sin(Pi/4.5), 0, 0, 0, 0.02, 0.03};
BooleanDifference(4) = {Volume{1}; Delete;}{Volume{2, 3}; Delete;};

Physical Volume("sector") = {4};
Physical Surface("side at 0") = {Surface In BoundingBox{0.04, -0.001, -0.001, 0.21, 0.001, 0.021}};
Physical Surface("side at 60") = {Surface In BoundingBox{0.02, 0.04, -0.001, 0.11, 0.18, 0.021}};
Physical Surface("bore") = {Surface In BoundingBox{0.02, -0.001, -0.001, 0.051, 0.045, 0.021}};

Mesh.MeshSizeMax = 0.015;
Mesh.MeshSizeFromCurvature = 32;
Mesh.ElementOrder = 2;
Mesh.HighOrderOptimize = 1;
