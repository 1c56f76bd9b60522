import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../plugin/index.ts';
import {
  isReference,
  NO_TURNS,
  RequestBody,
  type KeptResponse,
  type Operation,
  type ResponseService,
  type Turns,
} from '../../../../core/kernel/index.ts';
import { createCaller, createContext, createExchange, readBody, runPlugin } from '../../../../plugin/testing/index.ts';
import { wholeInput } from './expand.ts';
import responses from './index.ts';

const LONG = 'x'.repeat(2_000_000);
const message = (content: string): string => JSON.stringify({ type: 'message', role: 'user', content });

/** A response whose input and output are both large. */
const OUTPUT = JSON.stringify({ type: 'message', id: 'msg_1', content: LONG });
const kept: KeptResponse = {
  id: 'resp_1',
  response: Buffer.from(`{"output":[${OUTPUT}],"id":"resp_1"}`),
  input: Buffer.from(`[${[message('one'), message(LONG), message(LONG), message('last')].join(',')}]`),
};

/** The ids that were read. */
const found: string[] = [];

const service: ResponseService = {
  maxBytes: 1_000_000,
  measure: (_, { response, items }) =>
    (response === kept.id ? kept.response.length + kept.input.length : 0) +
    (items.includes('msg_1') ? OUTPUT.length : 0),
  find: (_, id) => (found.push(id), id === kept.id ? kept : undefined),
  findItems: (_, ids) => (found.push(...ids), new Map(ids.includes('msg_1') ? [['msg_1', OUTPUT]] : [])),
  keep() {},
  remove: () => false,
};

/** Runs the plugin. `outside` has what JSON.parse and JSON.stringify did with long texts outside a turn. */
async function run({
  id,
  body,
  path = 'resp_1',
  reserve = () => undefined,
  mostBody = 50_000_000,
  keeping = service,
}: {
  readonly id: string;
  readonly body?: object;
  readonly path?: string;
  readonly reserve?: (bytes: number) => GatewayError | undefined;
  readonly mostBody?: number;
  readonly keeping?: ResponseService;
}) {
  // The plugin reads only these fields of an operation.
  const operation = {
    id,
    validate: () => void works.at(-1)?.push('check'),
    hasReferences: ({ input }) => Array.isArray(input) && input.some(isReference),
  } as Partial<Operation> as Operation;
  const exchange = createExchange({ operation, params: { id: path }, caller: createCaller() });
  if (body) exchange.request.body = RequestBody.read(Buffer.from(JSON.stringify(body)), 64);
  let inTurn = false;
  /** The calls of each turn with long texts. */
  const works: string[][] = [];
  let turnsTaken = 0;
  const turns: Turns = {
    isHeavy: (bytes) => bytes > 1_000_000,
    run(_, work) {
      inTurn = true;
      turnsTaken += 1;
      works.push([]);
      try {
        return work();
      } finally {
        inTurn = false;
      }
    },
  };
  const outside: string[] = [];
  const { parse, stringify } = JSON;
  JSON.parse = (...args: Parameters<typeof parse>): unknown => {
    if (args[0].length > 1_000_000) (inTurn ? works.at(-1)! : outside).push('parse');
    return parse(...args);
  };
  JSON.stringify = ((...args: Parameters<typeof stringify>) => {
    const text = stringify(...args);
    if (!inTurn && text.length > 1_000_000) outside.push('stringify');
    return text;
  }) as typeof stringify;
  try {
    await runPlugin(responses, {
      context: createContext(exchange),
      needs: {
        responses: keeping,
        turns,
        limits: {
          body: mostBody,
          json: { depth: 64, keys: 10_000, items: 100_000 },
          reserve: (_, bytes) => reserve(bytes),
        },
      },
    });
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
  const { reply } = exchange;
  return { exchange, outside, turnsTaken, works, text: reply ? await readBody(reply.body) : '' };
}

describe('a large kept response', () => {
  it.each<[string, Parameters<typeof run>[0]]>([
    ['is shown', { id: 'responses.retrieve' }],
    ['is listed', { id: 'responses.input_items' }],
    ['is continued', { id: 'responses', body: { model: 'm', input: 'x', previous_response_id: 'resp_1' } }],
    [
      'is named in a large input',
      {
        id: 'responses',
        body: {
          model: 'm',
          input: [
            { type: 'item_reference', id: 'msg_1' },
            { role: 'user', content: LONG },
          ],
        },
      },
    ],
  ])('%s in the turns of large bodies alone', async (_, asked) => {
    const { outside, turnsTaken } = await run(asked);
    expect([outside, turnsTaken > 0]).toEqual([[], true]);
  });

  it.each<[string, Parameters<typeof run>[0]]>([
    ['is shown', { id: 'responses.retrieve' }],
    ['is listed', { id: 'responses.input_items' }],
    ['is cancelled', { id: 'responses.cancel' }],
    ['is continued', { id: 'responses', body: { model: 'm', input: 'x', previous_response_id: 'resp_1' } }],
    ['is named', { id: 'responses', body: { model: 'm', input: [{ type: 'item_reference', id: 'msg_1' }] } }],
  ])('is not read for a request without the room for it: %s', async (_, asked) => {
    found.length = 0;
    const asking = run({
      ...asked,
      reserve: (bytes) => (bytes > 2_000_000 ? new GatewayError('overloaded', 'Full.') : undefined),
    });
    await expect(asking).rejects.toThrow('Full.');
    expect(found).toEqual([]);
  });

  it('is not read by an input whose items exceed a body together', async () => {
    found.length = 0;
    const input = [{ type: 'item_reference', id: 'msg_1' }];
    await expect(run({ id: 'responses', body: { model: 'm', input }, mostBody: 1000 })).rejects.toThrow('limits.body');
    expect(found).toEqual([]);
  });

  it.each([
    ['its response', { previous_response_id: 'resp_1', input: 'x' }],
    [
      'its items',
      {
        input: ['msg', 'rs'].map((kind) => ({ type: 'item_reference', id: `${kind}_${'0'.repeat(32)}` })),
      },
    ],
  ])('that nests deeper than it can be written is refused by its depth where %s is named', async (_, fields) => {
    const deep = `{"type":"message","id":"msg_${'0'.repeat(32)}","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const reasoning = `{"type":"reasoning","id":"rs_${'0'.repeat(32)}","summary":[]}`;
    const response = Buffer.from(`{"id":"resp_1","output":[${reasoning},${deep}]}`);
    const operation = { hasReferences: ({ input }: { input?: unknown }) => Array.isArray(input) } as Partial<Operation>;
    const asking = {
      exchange: createExchange({ caller: createCaller() }),
      operation: operation as Operation,
      body: RequestBody.read(Buffer.from(JSON.stringify(fields)), 64),
    };
    const keeping: ResponseService = {
      ...service,
      find: () => ({ id: 'resp_1', response, input: Buffer.from('[]') }),
      findItems: (_exchange, ids) => new Map(ids.map((id) => [id, id.startsWith('msg') ? deep : reasoning])),
    };
    await expect(wholeInput(asking, keeping, { turns: NO_TURNS, charge() {} })).rejects.toMatchObject({
      code: 'body_too_deep',
    });
  });

  it('becomes a body whose parsing and whose check have a turn each', async () => {
    const keeping: ResponseService = {
      ...service,
      findItems: (_, ids) => new Map(ids.map((id) => [id, '{"role":"user","content":"x"}'])),
    };
    const input = Array.from({ length: 40_000 }, () => ({ type: 'item_reference', id: 'msg_2' }));
    const { works } = await run({ id: 'responses', body: { model: 'm', input }, keeping });
    // Before them the ids are found in the input, and the items put in their places.
    expect(works.slice(-3)).toEqual([[], ['parse'], ['check']]);
  });

  it('is listed in pages that end behind their first megabyte', async () => {
    const { text } = await run({ id: 'responses.input_items' });
    expect(JSON.parse(text)).toMatchObject({
      data: [{ content: 'last' }, { content: LONG }],
      first_id: 'item_1_3',
      last_id: 'item_1_2',
      has_more: true,
    });
  });
});
