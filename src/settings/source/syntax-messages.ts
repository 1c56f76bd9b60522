import type { YAMLError } from 'yaml';

type Code = YAMLError['code'];

/**
 * Messages for the parser's error codes. The parser's own messages quote the source, which may contain a secret, so they are
 * never shown.
 */
const MESSAGES: Partial<Record<Code, string>> = {
  ALIAS_PROPS: 'an alias cannot have an anchor or tag of its own',
  BAD_ALIAS: 'this alias has no name',
  BAD_COLLECTION_TYPE: 'this tag does not fit the value',
  BAD_DIRECTIVE: 'this line starts with % and is not a YAML directive',
  BAD_DQ_ESCAPE: 'unknown escape in a double-quoted string; use single quotes for text with backslashes',
  BAD_INDENT: 'wrong indentation, or a bracket that is not closed',
  BAD_PROP_ORDER: 'an anchor or tag is in the wrong place',
  BLOCK_AS_IMPLICIT_KEY: 'a second `key:` on one line; put it on a line of its own, or quote the value',
  BLOCK_IN_FLOW: 'indented blocks are not allowed inside [ ] or { }',
  DUPLICATE_KEY: 'this key appears twice',
  IMPOSSIBLE: 'this is not YAML',
  KEY_OVER_1024_CHARS: 'this key is too long',
  MISSING_CHAR: 'a bracket or quote that opens here is not closed',
  MULTILINE_IMPLICIT_KEY: 'this line is neither a `key: value` nor the continuation of one',
  MULTIPLE_ANCHORS: 'a value can have one anchor only',
  MULTIPLE_DOCS: 'a file must be one document; `---` starts a second one',
  MULTIPLE_TAGS: 'a value can have one tag only',
  NON_STRING_KEY: 'keys are text',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAB_AS_INDENT: 'a tab in the indentation; YAML requires spaces',
  TAG_RESOLVE_FAILED: 'tags (`!…`) are not supported',
  UNEXPECTED_TOKEN: 'this is not allowed here',
};

export function syntaxMessage({ code, pos }: YAMLError, text: string): string {
  const at = text[pos[0]] ?? '';
  if (code === 'BAD_SCALAR_START') return `a value cannot start with \`${at}\`; put it in quotes`;
  if (code === 'MISSING_CHAR' && (at === '"' || at === "'")) return 'this quote is not closed';
  const line = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1, pos[0] + 1);
  if (code === 'UNEXPECTED_TOKEN' && line.includes('${')) return 'put `${…}` in quotes inside [ ] or { }';
  return MESSAGES[code] ?? 'this is not YAML';
}
