// A bracket of 100 by 80 by 60 mm, 10 mm thick, with a fillet of 8 mm and four holes of 9 mm: gmsh -3 bracket.geo -o bracket.msh
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 80, 60, 10};
Box(2) = {0, 0, 10, 10, 60, 90};
Box(3) = {10, 0, 10, 8, 60, 8};
Cylinder(4) = {18, 0, 18, 0, 60, 0, 8};
BooleanDifference(5) = {Volume{3}; Delete;}{Volume{4}; Delete;};
BooleanUnion(6) = {Volume{1}; Delete;}{Volume{2, 5}; Delete;};
For i In {0:3}
  Cylinder(10 + i) = {-1, 15 + 30 * (i % 2), 45 + 40 * Floor(i / 2), 12, 0, 0, 4.5};
EndFor
BooleanDifference(7) = {Volume{6}; Delete;}{Volume{10:13}; Delete;};

Physical Volume("body") = {7};
Physical Surface("tip") = {Surface In BoundingBox{79.9, -1, -1, 80.1, 61, 11}};
Physical Surface("bolts") = {
    Surface In BoundingBox{-0.1, 10, 40, 10.1, 20, 50}, Surface In BoundingBox{-0.1, 40, 40, 10.1, 50, 50},
    Surface In BoundingBox{-0.1, 10, 80, 10.1, 20, 90}, Surface In BoundingBox{-0.1, 40, 80, 10.1, 50, 90}};
Mesh.MeshSizeMax = 10;
Mesh.MeshSizeFromCurvature = 12;
Mesh.ElementOrder = 2;
Mesh.HighOrderOptimize = 1;
