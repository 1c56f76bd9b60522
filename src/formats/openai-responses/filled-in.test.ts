import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { JsonObject } from '../conversation.ts';
import { fold } from '../streams/fold.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeStream } from './decode-stream.ts';

const reply = { model: 'm', newCallId: () => 'call_new' };

type Event = JsonObject & { readonly type: string };

const fragments = (whole: string): string[] => [whole.slice(0, 2), whole.slice(2)];

/** The events of one part, in the order of the API: its deltas, then the whole part under a name of its own. */
function partEvents(name: string, place: JsonObject, whole: string, field: string): Event[] {
  const deltas = fragments(whole).map((delta) => ({ type: `response.${name}.delta`, ...place, delta }));
  return [...deltas, { type: `response.${name}.done`, ...place, [field]: whole }];
}

const text = (at: number, part: number, whole: string): Event[] => {
  const place = { output_index: at, content_index: part };
  const value = { type: 'output_text', text: whole, annotations: [] };
  return [
    ...partEvents('output_text', place, whole, 'text'),
    { type: 'response.content_part.done', ...place, part: value },
  ];
};

interface Case {
  readonly item: JsonObject;
  readonly events: (at: number) => Event[];
}

/** Each kind of part that a model writes. */
const KINDS: Readonly<Record<string, Case>> = {
  'a text': {
    item: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'answer', annotations: [] }] },
    events: (at) => text(at, 0, 'answer'),
  },
  'two texts': {
    item: {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'first', annotations: [] },
        { type: 'output_text', text: 'second', annotations: [] },
      ],
    },
    events: (at) => [...text(at, 0, 'first'), ...text(at, 1, 'second')],
  },
  'a cited text': {
    item: {
      type: 'message',
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: 'see here',
          annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 4, end_index: 8 }],
        },
      ],
    },
    events: (at) => {
      const annotation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 4, end_index: 8 };
      const place = { output_index: at, content_index: 0 };
      return [
        ...partEvents('output_text', place, 'see here', 'text'),
        { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation },
        {
          type: 'response.content_part.done',
          ...place,
          part: { type: 'output_text', text: 'see here', annotations: [annotation] },
        },
      ];
    },
  },
  'a refusal': {
    item: { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not' }] },
    events: (at) => partEvents('refusal', { output_index: at, content_index: 0 }, 'I will not', 'refusal'),
  },
  'a summary of two parts': {
    item: {
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: 'one' },
        { type: 'summary_text', text: 'two' },
      ],
      encrypted_content: 'enc',
    },
    events: (at) => [
      ...partEvents('reasoning_summary_text', { output_index: at, summary_index: 0 }, 'one', 'text'),
      ...partEvents('reasoning_summary_text', { output_index: at, summary_index: 1 }, 'two', 'text'),
    ],
  },
  'a chain of thought': {
    item: { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'thought' }] },
    events: (at) => partEvents('reasoning_text', { output_index: at, content_index: 0 }, 'thought', 'text'),
  },
  'the arguments of a function': {
    item: { type: 'function_call', call_id: 'c1', name: 'get', arguments: '{"c":"X"}' },
    events: (at) => partEvents('function_call_arguments', { output_index: at }, '{"c":"X"}', 'arguments'),
  },
  'the input of a custom tool': {
    item: { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '*** Begin' },
    events: (at) => partEvents('custom_tool_call_input', { output_index: at }, '*** Begin', 'input'),
  },
};

const announced = ({ content: _c, summary: _s, encrypted_content: _e, ...item }: JsonObject): JsonObject => ({
  ...item,
  ...(item.arguments !== undefined && { arguments: '' }),
  ...(item.input !== undefined && { input: '' }),
});

function streamOf(items: readonly Case[], keep: (event: Event, at: number) => boolean): Event[] {
  const output = items.map(({ item }, at) => ({ id: `item_${at}`, ...item }));
  const events = items.flatMap(({ events: of }, at): Event[] => [
    { type: 'response.output_item.added', output_index: at, item: announced(output[at]!) },
    ...of(at),
    { type: 'response.output_item.done', output_index: at, item: output[at]! },
  ]);
  const response = { id: 'resp_1', model: 'm', created_at: 1, status: 'completed', output };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...events.filter(keep),
    { type: 'response.completed', response },
  ];
}

const read = (events: readonly Event[]) => {
  const decoder = decodeStream(reply);
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  return fold([...decoder.push(bytes), ...decoder.end()]);
};

const plain = (items: readonly Case[]) => {
  const output = items.map(({ item }, at) => ({ id: `item_${at}`, ...item }));
  return fold(decodeReply({ id: 'resp_1', model: 'm', created_at: 1, status: 'completed', output }, reply));
};

const choiceOf = ({ choices }: ReturnType<typeof read>) => choices[0];

const ends =
  (...names: string[]) =>
  (event: Event) =>
    names.some((name) => event.type.endsWith(name));

/** Servers that leave out events. The predicate is true for the events that the server sends. */
const SERVERS: Readonly<Record<string, (event: Event) => boolean>> = {
  'sends everything': () => true,
  'sends no deltas': (event) => !ends('.delta')(event),
  'loses the last delta of a part': ({ type, delta }) => !type.endsWith('.delta') || String(delta).length === 2,
  'sends deltas and no ends': ends('.delta', '.added'),
  'sends the ends of parts alone': (event) => ends('.done')(event) && !ends('item.done')(event),
  'sends whole items alone': ends('output_item.done'),
  'sends announcements alone': ends('output_item.added'),
  'sends nothing before its last event': () => false,
};

describe('a part of a streamed response', () => {
  for (const [server, keep] of Object.entries(SERVERS)) {
    it.each(Object.keys(KINDS))(`is read once from a server that ${server}: %s`, (kind) => {
      const items = [KINDS[kind]!];
      expect(choiceOf(read(streamOf(items, keep)))).toEqual(choiceOf(plain(items)));
    });
  }

  it('is read once, whichever of the events a server leaves out of any reply', () => {
    const cases = fc.array(fc.constantFrom(...Object.values(KINDS)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(cases, fc.infiniteStream(fc.constantFrom(...Object.values(SERVERS))), (items, servers) => {
        const perItem = items.map(() => servers.next().value!);
        const events = streamOf(items, (event) => perItem[Number(event.output_index)]!(event));
        const [got, want] = [choiceOf(read(events)), choiceOf(plain(items))];
        const sorted = (parts: readonly object[] = []) => parts.map((part) => JSON.stringify(part)).sort();
        // An item that comes only with the last event follows the others.
        expect(sorted(got?.parts)).toEqual(sorted(want?.parts));
        expect([got?.refusal?.length, got?.finish, got?.citations.length]).toEqual([
          want?.refusal?.length,
          want?.finish,
          want?.citations.length,
        ]);
      }),
    );
  });

  /** The stream with another value in the last field of this name. */
  const changed = (kind: string, type: string, change: (event: Event) => Event) =>
    streamOf([KINDS[kind]!], () => true).map((event) => (event.type.endsWith(type) ? change(event) : event));
  const other = ({ item, ...event }: Event): Event => ({ ...event, item: { ...(item as JsonObject), ...OTHER } });
  const OTHER = {
    content: [{ type: 'output_text', text: 'No', annotations: [] }],
    arguments: '{"c":"Y"}',
    input: '*** End',
  };
  const whole = (value: string) => (event: Event) => ({
    ...event,
    text: value,
    arguments: value,
    refusal: value,
    input: value,
  });
  const failureOf = (events: readonly Event[]) => read(events).failure;

  it.each<[string, string, string, (event: Event) => Event]>([
    ['another text', 'a text', 'output_text.done', whole('Answer')],
    ['a shorter text', 'a text', 'output_text.done', whole('ans')],
    ['another text behind the same beginning', 'a text', 'output_text.done', whole('anbwer and more')],
    ['another refusal', 'a refusal', 'refusal.done', whole('I will')],
    ['other arguments', 'the arguments of a function', 'arguments.done', whole('{"c":"Y"}')],
    ['another input', 'the input of a custom tool', 'input.done', whole('*** End')],
    ['another item', 'a text', 'output_item.done', other],
    ['an item with other arguments', 'the arguments of a function', 'output_item.done', other],
    [
      'another name',
      'the arguments of a function',
      'output_item.done',
      ({ item, ...event }) => ({ ...event, item: { ...(item as JsonObject), name: 'rm' } }),
    ],
    [
      'another response',
      'a text',
      'response.completed',
      ({ response, ...event }) => ({
        ...event,
        response: { ...(response as JsonObject), output: [{ id: 'item_0', ...KINDS['a text']!.item, ...OTHER }] },
      }),
    ],
    [
      'a response with other arguments',
      'the arguments of a function',
      'response.completed',
      ({ response, ...event }) => ({
        ...event,
        response: {
          ...(response as JsonObject),
          output: [{ id: 'item_0', ...KINDS['the arguments of a function']!.item, ...OTHER }],
        },
      }),
    ],
  ])('is a failure at the end of the stream if it ends with %s', (_, kind, type, change) => {
    const events = changed(kind, type, change).map((event): Event =>
      event.type === 'response.completed'
        ? { ...event, response: { ...(event['response'] as JsonObject), usage: { input_tokens: 3, output_tokens: 4 } } }
        : event,
    );
    const { failure, usage } = read(events);
    expect(failure).toMatchObject({ kind: 'unreadable_reply', status: 502 });
    expect(failure?.message).toContain('contradicts itself');
    expect(usage).toMatchObject({ input: 3, output: 4 });
  });

  it.each<[string, string, string, (event: Event) => Event]>([
    [
      'without the white space around it',
      'a text',
      'text.delta',
      ({ delta, ...event }) => ({ ...event, delta: ` ${String(delta)}\n` }),
    ],
    ['written anew', 'the arguments of a function', 'arguments.done', whole('{ "c": "X" }')],
    ['empty', 'a text', 'output_text.done', whole('')],
    ['another summary of the thoughts', 'a summary of two parts', 'text.done', whole('other')],
  ])('is no failure if it ends %s', (_, kind, type, change) => {
    expect(failureOf(changed(kind, type, change))).toBeUndefined();
  });

  const delta = (name: string, text: string): Event => ({
    type: `response.${name}.delta`,
    output_index: 0,
    content_index: 0,
    delta: text,
  });
  it.each<[string, string, (events: readonly Event[]) => readonly Event[]]>([
    ['more text behind its item', 'a text', (events) => events.toSpliced(-1, 0, delta('output_text', ' or not'))],
    [
      'more arguments behind its item',
      'the arguments of a function',
      (events) => events.toSpliced(-1, 0, delta('function_call_arguments', '{}')),
    ],
    [
      'an item of another type',
      'a text',
      (events) =>
        events.map((event) =>
          event.type.endsWith('item.done') ? { ...event, item: KINDS['the arguments of a function']!.item } : event,
        ),
    ],
    [
      'a call whose name is empty',
      'the arguments of a function',
      (events) =>
        events.map((event) =>
          event['item'] ? { ...event, item: { ...(event['item'] as JsonObject), name: '' } } : event,
        ),
    ],
  ])('is a failure with %s', (_, kind, change) => {
    expect(failureOf(change(streamOf([KINDS[kind]!], () => true)))).toMatchObject({ kind: 'unreadable_reply' });
  });

  it('is one item where it is announced twice', () => {
    const events = streamOf([KINDS['the arguments of a function']!], () => true);
    expect(read(events.toSpliced(1, 0, events[1]!)).choices[0]?.parts).toHaveLength(1);
  });

  it('is no failure of a server that numbers no events', () => {
    const items = ['a text', 'two texts', 'a refusal', 'the arguments of a function', 'the arguments of a function'];
    const all = streamOf(
      items.map((kind) => KINDS[kind]!),
      () => true,
    );
    for (const names of [['output_index'], ['content_index', 'output_index'], ['content_index']]) {
      const events = all.map((event) =>
        Object.fromEntries(Object.entries(event).filter(([key]) => !names.includes(key))),
      );
      expect(failureOf(events as Event[])).toBeUndefined();
      expect(failureOf((events as Event[]).filter(({ type }) => !type.endsWith('.added')))).toBeUndefined();
    }
  });

  it('is not doubled by a server that numbers no events', () => {
    const items = ['a chain of thought', 'a text', 'the arguments of a function'].map((kind) => KINDS[kind]!);
    const events = streamOf(items, ends('.delta', '.added')).map(({ output_index: _, ...event }) => event as Event);
    const { parts } = choiceOf(read(events))!;
    expect(parts.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_call']);
  });
});
