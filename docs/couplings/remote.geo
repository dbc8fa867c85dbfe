// A crank of two eyes: gmsh -3 remote.geo -o remote.msh
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, 0, 0, 0, 12, 20};
Cylinder(2) = {80, 0, 0, 0, 0, 12, 14};
Box(3) = {0, -10, 0, 80, 20, 12};
BooleanUnion(4) = {Volume{1}; Delete;}{Volume{2, 3}; Delete;};
Cylinder(5) = {0, 0, 0, 0, 0, 12, 12};
Cylinder(6) = {80, 0, 0, 0, 0, 12, 6};
BooleanDifference(7) = {Volume{4}; Delete;}{Volume{5, 6}; Delete;};

Physical Volume("crank") = {7};
Physical Surface("shaft") = {Surface In BoundingBox{-12.1, -12.1, -1, 12.1, 12.1, 13}};
Physical Surface("pin") = {Surface In BoundingBox{73.9, -6.1, -1, 86.1, 6.1, 13}};

Mesh.MeshSizeMax = 7;
Mesh.MeshSizeFromCurvature = 16;   // elements per turn
Mesh.ElementOrder = 2;
Mesh.HighOrderOptimize = 1;
