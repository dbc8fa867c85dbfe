// Half the thickness of a link that turns on a pin and rests on a slope: gmsh -3 support.geo -o support.msh
SetFactory("OpenCASCADE");
Point(1) = {0, 0, 0};
Point(2) = {80, 0, 0};
Point(3) = {100, 20*Tan(Pi/6), 0};
Point(4) = {100, 30, 0};
Point(5) = {0, 30, 0};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 5};
Line(5) = {5, 1};
Circle(6) = {15, 15, 0, 8};
Curve Loop(1) = {1:5};
Curve Loop(2) = {6};
Plane Surface(1) = {1, 2};
Extrude {0, 0, 6} { Surface{1}; }

Physical Volume("link") = {1};
Physical Surface("middle") = {1};
Physical Surface("bore") = {Surface In BoundingBox{6, 6, -1, 24, 24, 7}};
Physical Surface("slope") = {Surface In BoundingBox{79, -1, -1, 101, 13, 7}};
Physical Surface("top") = {Surface In BoundingBox{-1, 29, -1, 101, 31, 7}};

Mesh.MeshSizeMax = 6;
Mesh.MeshSizeFromCurvature = 20;
Mesh.ElementOrder = 2;
Mesh.HighOrderOptimize = 1;
