"""The evidence that fragments answer a query: one module for each kind of evidence, named after what it looks at."""
