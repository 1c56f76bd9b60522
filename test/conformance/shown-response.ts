/** A response as its client sees it, as far as the tests of conformance look at it. */
interface Item {
  readonly type: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly { readonly text?: string; readonly refusal?: string }[];
}
export interface Shown {
  readonly status?: string;
  readonly output?: readonly Item[];
}

export const textOf = ({ output = [] }: Shown): string =>
  output
    .flatMap(({ content = [], type }) => (type === 'message' ? content : []))
    .map(({ text = '' }) => text)
    .join('');

export const callsOf = ({ output = [] }: Shown): [string, unknown][] =>
  output.flatMap(({ type, name, arguments: text }) =>
    type === 'function_call' ? [[name ?? '', JSON.parse(text || '{}')]] : [],
  );

export const isComplete = ({ status }: Shown): boolean => status === 'completed' || status === 'incomplete';

/** The response of a recorded body: the body itself, or what its events add up to. */
export function recordedResponse(body: unknown): Shown {
  if (typeof body !== 'string') return body as Shown;
  const events = body.split(/\r?\n\r?\n/).flatMap((record) => {
    const data = /^data: ?(\{.*)$/m.exec(record)?.[1];
    return data === undefined ? [] : [JSON.parse(data) as { type: string; response?: Shown; item?: Item }];
  });
  const last = events.findLast(({ response }) => response)?.response ?? {};
  // Some servers leave the last `output` empty.
  const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' && item ? [item] : []));
  return last.output?.length ? last : { ...last, output: items };
}
