[(class_definition) (trait_definition) (object_definition) (enum_definition) (package_object)] @class
[(function_definition) (given_definition name: (_))] @function
[(class_definition (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base))
 (trait_definition (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base))
 (object_definition (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base))
 (enum_definition (extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base))]
(package_clause name: (_) @package)
(import_declaration) @import
(import_declaration [(identifier) (operator_identifier)] @import.path)
(namespace_selectors (identifier) @import.name)
(namespace_selectors (arrow_renamed_identifier name: (_) @import.name alias: (identifier) @import.alias))
(namespace_selectors (as_renamed_identifier name: (_) @import.name alias: (identifier) @import.alias))
(namespace_wildcard) @import.star
(call_expression function: [(identifier) @call (field_expression field: (identifier) @call)])
(call_expression function: (generic_function function: [(identifier) @call
 (field_expression field: (identifier) @call)]))
(instance_expression [(type_identifier) @call (generic_type type: (type_identifier) @call)])
[(if_expression) (for_expression) (while_expression) (do_while_expression) (case_clause)
 ((operator_identifier) @_operator (#any-of? @_operator "&&" "||"))] @branch
[(comment) (block_comment) (annotation)] @note
