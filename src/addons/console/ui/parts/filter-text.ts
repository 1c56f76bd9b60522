/** Members of the address that filter requests, in the words of the API. `label.NAME` filters by metadata. */
const FILTERS = ['key', 'team', 'config', 'provider', 'model', 'target', 'status', 'error', 'min_ms'] as const;

export const isFilter = (name: string): boolean => FILTERS.some((one) => one === name) || name.startsWith('label.');

const WORD = /(?:([\w.-]+):)?(?:"([^"]*)"?|(\S+))/g;

/** `key:a status:5xx label.app=x words` as the members of a query; words that are no filter are searched for. */
export function parseFilter(text: string): URLSearchParams {
  const query = new URLSearchParams();
  const words: string[] = [];
  for (const [whole, name = '', quoted, bare] of text.matchAll(WORD)) {
    if (isFilter(name)) query.append(name, quoted ?? bare ?? '');
    else words.push(name === '' ? (quoted ?? bare ?? '') : whole);
  }
  if (words.length > 0) query.set('q', words.join(' '));
  return query;
}

const written = (value: string): string => (/\s/.test(value) ? `"${value}"` : value);

export function filterText(query: URLSearchParams): string {
  const parts = [...query].flatMap(([name, value]) => (isFilter(name) ? [`${name}:${written(value)}`] : []));
  const words = query.get('q');
  return [...parts, ...(words === null ? [] : [words])].join(' ');
}

export interface FilterCompletion {
  readonly text: string;
  readonly shown: string;
}

/** Ways to go on from the word before the caret. */
export function completions(
  text: string,
  caret: number,
  known: Readonly<Record<string, ReadonlySet<string>>>,
): readonly FilterCompletion[] {
  const before = text.slice(0, caret);
  const start = before.search(/\S*$/);
  const [word, rest] = [before.slice(start), text.slice(caret)];
  const [name = '', value] = word.split(/:(.*)/s, 2);
  const put = (shown: string, more: string): FilterCompletion => ({
    shown,
    text: `${before.slice(0, start)}${more}${rest}`,
  });
  if (value === undefined)
    return [...FILTERS, ...Object.keys(known).filter((one) => one.startsWith('label.'))]
      .filter((one) => one.startsWith(word) && one !== word)
      .map((one) => put(`${one}:`, `${one}:`));
  return [...(known[name] ?? [])]
    .filter((one) => one.toLowerCase().includes(value.toLowerCase()) && one !== value)
    .toSorted()
    .slice(0, 12)
    .map((one) => put(one, `${name}:${written(one)} `));
}
