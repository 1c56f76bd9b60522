import type { YAMLError } from 'yaml';

type Code = YAMLError['code'];

/**
 * What the parser's codes mean to the person who wrote the file. Its own messages repeat pieces of the source, and the source may
 * hold a secret, so none of them is passed on.
 */
const MESSAGES: Partial<Record<Code, string>> = {
  ALIAS_PROPS: 'an alias takes no anchor or tag of its own',
  BAD_ALIAS: 'this alias has no name',
  BAD_COLLECTION_TYPE: 'this tag does not fit the value',
  BAD_DIRECTIVE: 'this line starting with % is not a directive YAML knows',
  BAD_DQ_ESCAPE: 'unknown escape in a double-quoted string; use single quotes for text with backslashes',
  BAD_INDENT: 'wrong indentation, or a bracket that is not closed',
  BAD_PROP_ORDER: 'an anchor or tag stands in the wrong place',
  BLOCK_AS_IMPLICIT_KEY: 'a second `key:` on one line; put it on a line of its own, or quote the value',
  BLOCK_IN_FLOW: 'indented blocks cannot stand inside [ ] or { }',
  DUPLICATE_KEY: 'this key is there twice',
  IMPOSSIBLE: 'this is not YAML',
  KEY_OVER_1024_CHARS: 'this key is too long',
  MISSING_CHAR: 'something that was opened here is not closed',
  MULTILINE_IMPLICIT_KEY: 'this line is neither a `key: value` nor the continuation of one',
  MULTIPLE_ANCHORS: 'a value takes one anchor only',
  MULTIPLE_DOCS: 'a file holds one document; `---` starts a second one',
  MULTIPLE_TAGS: 'a value takes one tag only',
  NON_STRING_KEY: 'keys are text',
  RESOURCE_EXHAUSTION: 'nested too deeply',
  TAB_AS_INDENT: 'a tab in the indentation; YAML wants spaces',
  TAG_RESOLVE_FAILED: 'tags (`!…`) are not supported',
  UNEXPECTED_TOKEN: 'this does not belong here',
};

export function syntaxMessage({ code, pos }: YAMLError, text: string): string {
  const at = text[pos[0]] ?? '';
  if (code === 'BAD_SCALAR_START') return `a value cannot start with \`${at}\`; put it in quotes`;
  if (code === 'MISSING_CHAR' && (at === '"' || at === "'")) return 'this quote is not closed';
  const line = text.slice(text.lastIndexOf('\n', pos[0] - 1) + 1, pos[0] + 1);
  if (code === 'UNEXPECTED_TOKEN' && line.includes('${')) return 'put `${…}` in quotes inside [ ] or { }';
  return MESSAGES[code] ?? 'this is not YAML';
}
