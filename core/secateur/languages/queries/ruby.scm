[(class) (module)] @class
(singleton_class) @singleton
[(method) (singleton_method)] @function
(call arguments: (argument_list . [(method) (singleton_method)])) @modified
(call arguments: (argument_list . [(string) (constant) (scope_resolution) (simple_symbol) (pair)]) block: (do_block))
 @titled
(assignment left: (constant) right: (call block: (_))) @struct
(assignment left: [(identifier) (instance_variable)] right: (call)) @creation
(assignment left: (identifier) @local)
[(method_parameters (identifier) @local) (block_parameters (identifier) @local)]
((call !receiver method: (identifier) @_word arguments: (argument_list . [(string) (constant) (scope_resolution)]))
 @command
  (#any-of? @_word "require" "require_relative" "load" "include" "extend" "prepend"))
(call method: [(identifier) (constant)] @call)
[(body_statement (identifier) @bare) (then (identifier) @bare) (block_body (identifier) @bare)]
[(if) (unless) (while) (until) (for) (when) (in_clause) (rescue) (conditional) (if_modifier) (unless_modifier)
 (while_modifier) (until_modifier)
 (rescue_modifier) (elsif) "&&" "||" "and" "or"] @branch
(comment) @note
