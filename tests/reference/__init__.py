"""Small random models of the reference implementation, and how their tensors map onto ours."""
