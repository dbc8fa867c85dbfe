// Two arms, tip to tip: gmsh -2 equation.geo -o equation.msh
Point(1) = {1, 0, 0};        // the tips: nodes 1 and 2
Point(2) = {1.2, 0, 0};
Point(3) = {0, 0, 0};
Point(4) = {0, -0.1, 0};
Point(5) = {1, -0.1, 0};
Point(6) = {2.2, 0, 0};
Point(7) = {2.2, -0.1, 0};
Point(8) = {1.2, -0.1, 0};
Line(1) = {1, 3};
Line(2) = {3, 4};
Line(3) = {4, 5};
Line(4) = {5, 1};
Line(5) = {2, 8};
Line(6) = {8, 7};
Line(7) = {7, 6};
Line(8) = {6, 2};
Curve Loop(1) = {1:4};
Curve Loop(2) = {5:8};
Plane Surface(1) = {1};
Plane Surface(2) = {2};

Physical Surface("arms") = {1, 2};
Physical Curve("left wall") = {2};
Physical Curve("right wall") = {7};
Physical Curve("left tip") = {4};

Mesh.MeshSizeMax = 0.05;
Mesh.ElementOrder = 2;
