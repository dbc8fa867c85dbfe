// A boss on a plate, each with a mesh of its own: gmsh -3 tie.geo -o tie.msh
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 60, 40, 10};
Cylinder(2) = {30, 20, 10, 0, 0, 25, 9};

Physical Volume("plate") = {1};
Physical Volume("boss") = {2};
Physical Surface("ends") = {1, 2};
Physical Surface("plate top") = {6};
Physical Surface("boss head") = {8};
Physical Surface("boss foot") = {9};

MeshSize{PointsOf{Volume{1};}} = 8;
MeshSize{PointsOf{Volume{2};}} = 4;
Mesh.ElementOrder = 2;
