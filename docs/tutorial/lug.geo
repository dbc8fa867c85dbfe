// The lug's STL becomes a mesh of quadratic tetrahedra with named groups: gmsh -3 lug.geo -o lug.msh
Merge "lug.stl";

// An STL is a bag of triangles. Cut it into faces wherever it bends by more than 40 degrees, and make geometry of them.
ClassifySurfaces{40 * Pi / 180, 1, 1, Pi};
CreateGeometry;
faces() = Surface{:};
Surface Loop(1) = faces();
Volume(1) = {1};

// Names, which the case file refers to. Faces are picked by the boxes that hold them; millimetres.
Physical Volume("lug") = {1};
Physical Surface("bolts") = {
    Surface In BoundingBox{9, 9, -1, 19, 19, 9}, Surface In BoundingBox{61, 9, -1, 71, 19, 9},
    Surface In BoundingBox{9, 41, -1, 19, 51, 9}, Surface In BoundingBox{61, 41, -1, 71, 51, 9}};
Physical Surface("eye") = {Surface In BoundingBox{29, 19, 37, 51, 41, 59}};

Mesh.MeshSizeMax = 4;
Mesh.ElementOrder = 2;
Mesh.SecondOrderLinear = 1;   // straight edges: no element can fold over
