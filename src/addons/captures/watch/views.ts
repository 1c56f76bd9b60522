/** Puts `*` in the place of characters, and changes no length. */
type Marks = (text: string) => string;

/** `\u0061` and `\/`, also inside of JSON in JSON. Quotes and backslashes stay escaped: they part texts. */
const ESCAPE = /(?<!\\)\\+(?:u00([2-7][0-9a-fA-F])|(\/))/g;

/** The fields in which the events of a stream have the next piece of a text, in any API. */
const DELTA =
  /"(content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|refusal)"\s*:\s*"((?:[^"\\]|\\.)*)"/g;

/** Marks what is written, and what its escapes mean. */
export function markedThroughEscapes(text: string, marked: Marks): string {
  const view = new View(text);
  let at = 0;
  for (const { 0: escape, 1: hex, 2: slash, index } of text.matchAll(ESCAPE)) {
    const meant = slash ?? String.fromCharCode(Number.parseInt(hex ?? '', 16));
    if (meant === '"' || meant === '\\') continue;
    view.copy(at, index);
    at = index + escape.length;
    view.add(meant, index, at);
  }
  if (at === 0) return marked(text);
  view.copy(at, text.length);
  return view.marked(marked(text), marked);
}

/** Marks what is written, and the texts that the events of a stream have piece by piece. */
export function markedThroughDeltas(text: string, marked: Marks): string {
  const views = new Map<string, View>();
  for (const { 0: all, 1: name = '', 2: value = '', index } of text.matchAll(DELTA)) {
    let view = views.get(name);
    if (!view) views.set(name, (view = new View(text)));
    const end = index + all.length - 1;
    view.copy(end - value.length, end);
  }
  return [...views.values()].reduce((shown, view) => view.marked(shown, marked), marked(text));
}

/** Another reading of a text. Its spans know the places that they were written at. */
class View {
  readonly #text: string;
  readonly #pieces: string[] = [];
  /** Of each piece, in order. A piece that is no copy is one character. */
  readonly #places: (readonly [from: number, to: number])[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  copy(from: number, to: number): void {
    this.#pieces.push(this.#text.slice(from, to));
    this.#places.push([from, to]);
  }

  add(character: string, from: number, to: number): void {
    this.#pieces.push(character);
    this.#places.push([from, to]);
  }

  /** @param shown the text with the marks so far */
  marked(shown: string, marked: Marks): string {
    const before = this.#pieces.join('');
    const after = marked(before);
    if (after === before) return shown;
    const all = Buffer.from(shown, 'latin1');
    let at = 0;
    for (const [index, [from, to]] of this.#places.entries()) {
      const { length } = this.#pieces[index]!;
      const step = (to - from) / length;
      for (let place = from; place < to; place += step, at += 1)
        if (after[at] !== before[at]) all.fill('*', place, place + step);
    }
    return all.toString('latin1');
  }
}
