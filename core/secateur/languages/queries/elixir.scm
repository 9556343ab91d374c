((call target: (identifier) @_word (arguments . (alias) @name) (do_block)) @class (#any-of? @_word "defmodule" "defprotocol" "defimpl"))
((call target: (identifier) @_word (arguments . [(identifier) @name (call target: (identifier) @name)
 (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")])) @function
 (#any-of? @_word "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp"))
((call target: (identifier) @_word (arguments . (string . (quoted_content) @title)) (do_block)) @function
 (#any-of? @_word "test" "property" "feature"))
((call target: (identifier) @_word) @import (#any-of? @_word "alias" "import" "require" "use"))
((call target: (identifier) @call)
 (#not-match? @call "^(def[a-z]*|alias|import|require|use|if|unless|case|cond|with|for|test|describe|(module|type)?doc|spec|type)$"))
(call target: (dot left: (alias) right: (identifier) @call))
(call target: (dot right: (identifier) @call) (arguments))
((call target: (identifier) @_word) @branch (#any-of? @_word "if" "unless" "case" "cond" "with" "for"))
(stab_clause) @branch
(comment) @note
((unary_operator operator: "@" operand: (call target: (identifier) @_word)) @note
 (#any-of? @_word "doc" "spec" "impl" "moduledoc" "deprecated" "tag"))
(call (do_block) @body)
