[(class_declaration) (interface_declaration) (trait_declaration) (enum_declaration)] @class
[(function_definition) (method_declaration body: (_))] @function
[(anonymous_function) (arrow_function) (anonymous_class)] @scope
(namespace_definition) @namespace
(namespace_use_declaration) @use
(use_declaration) @mixin
[(require_expression) (require_once_expression) (include_expression) (include_once_expression)] @require
(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name (name) @call .))
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name (name) @call .))
[(simple_parameter) (variadic_parameter) (property_promotion_parameter)] @parameter
(property_declaration type: (_)) @property
(assignment_expression left: [(variable_name) (member_access_expression)] right: (object_creation_expression)) @creation
[(if_statement) (else_if_clause) (for_statement) (foreach_statement) (while_statement) (do_statement) (case_statement)
 (match_conditional_expression)
 (catch_clause) (conditional_expression) "&&" "||" "??" "and" "or"] @branch
(comment) @note
