import { jsonBytes } from '../../../formats/json/literal.ts';
import { eachMember, itemSpans, type JsonSpan } from '../../../formats/json/members.ts';
import { afterSpace, OPEN_ARRAY, OPEN_OBJECT, unquoted } from '../../../formats/json/scan.ts';
import type { Edit } from '../../../plugin/request.ts';

/** Edits by their paths: a value at the end of a path, or the edits inside of an object or a list. */
interface EditTree {
  value?: unknown;
  readonly inner: Map<string, EditTree>;
}

interface Replacement extends JsonSpan {
  readonly text: string;
}

/**
 * A JSON value with edits inside of its lists, all other bytes as they were: texts of a conversation. Undefined where an edit
 * does not replace a value that the JSON has; then it has to be written anew.
 * @param json one character for each byte
 * @param edits with paths from the value
 */
export function withListEdits(json: string, edits: readonly Pick<Edit, 'path' | 'value'>[]): string | undefined {
  const tree: EditTree = { inner: new Map() };
  for (const { path, value } of edits) {
    if (value === undefined) return undefined;
    let at = tree;
    for (const key of path) {
      let next = at.inner.get(key);
      if (!next) at.inner.set(key, (next = { inner: new Map() }));
      at = next;
    }
    at.value = value;
    at.inner.clear();
  }
  const found: Replacement[] = [];
  if (!collect(json, afterSpace(json, 0), tree, found)) return undefined;
  let text = '';
  let end = 0;
  for (const { from, to, text: replacement } of found) {
    text += json.slice(end, from) + replacement;
    end = to;
  }
  return text + json.slice(end);
}

/** Finds the values of the tree in the order of the text, each object and list once. False if one is missing. */
function collect(json: string, from: number, { inner }: EditTree, found: Replacement[]): boolean {
  let missing = inner.size;
  const note = (key: string, span: JsonSpan): boolean => {
    const edit = inner.get(key);
    if (!edit) return true;
    if (edit.value !== undefined && edit.inner.size === 0) found.push({ ...span, text: jsonBytes(edit.value) });
    else if (edit.value !== undefined || !collect(json, span.from, edit, found)) return false;
    missing -= 1;
    return missing > 0;
  };
  const code = json.charCodeAt(from);
  if (code === OPEN_OBJECT)
    eachMember(json, from, (key, span) => note(key.includes('\\') ? unquoted(`"${key}"`) : key, span));
  else if (code === OPEN_ARRAY) itemSpans(json, from).every((span, index) => note(String(index), span));
  return missing === 0;
}
