// An L of 1 by 1, pulled along its upper arm: its inner corner is sharp. gmsh -2 lshape.geo -o lshape.msh
Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {1, 0.5, 0};
Point(4) = {0.5, 0.5, 0};
Point(5) = {0.5, 1, 0};
Point(6) = {0, 1, 0};
For i In {1:6}
  Line(i) = {i, i % 6 + 1};
EndFor
Curve Loop(1) = {1:6};
Plane Surface(1) = {1};
Physical Surface("body") = {1};
Physical Curve("foot") = {1};
Physical Curve("side") = {6};
Physical Curve("top") = {5};
Mesh.ElementOrder = 2;
