import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from './conversation.ts';
import type { GenerationEvent } from './events.ts';
import { formats } from './index.ts';
import { clientContext, replyContext, requestTarget, replyWith } from './contexts.testkit.ts';
import { aliasOf, restoringNames } from './name-aliases.ts';
import { finish } from './steps.ts';
import { bodyWithTools, FORMATS, MODELS, namesIn } from './target-names.testkit.ts';
import { translateRequest } from './translate.ts';
import { runs } from '../../test/support/effort.ts';

/** As the vendors refuse names (docs/protocols/requests.md#limits-of-names). */
const TAKEN: Readonly<Record<FormatName, RegExp>> = {
  'openai-chat': /^[a-zA-Z0-9_-]{1,64}$/,
  'openai-responses': /^[a-zA-Z0-9_-]{1,64}$/,
  'anthropic-messages': /^[a-zA-Z0-9_-]{1,128}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
};
const LONGEST_ID: Readonly<Record<FormatName, number>> = {
  'openai-chat': 40,
  'openai-responses': 64,
  'anthropic-messages': Infinity,
  gemini: Infinity,
};
const PAIRS = FORMATS.flatMap((client) =>
  FORMATS.filter((one) => one !== client).map((upstream) => ({ client, upstream })),
);

/** The target is the vendor's own API. */
function translated(client: FormatName, upstream: FormatName, names: readonly string[], ids: readonly string[]) {
  return finish(
    translateRequest(bodyWithTools(client, names, ids), {
      client: formats[client],
      upstream: formats[upstream],
      target: requestTarget({ model: MODELS[upstream], extensions: new Set(), defaultMaxTokens: 100 }),
      reply: replyContext(),
    }),
  );
}

const toolName = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_.:/ -]{1,80}$/),
  fc.string({ minLength: 1, maxLength: 140, unit: 'grapheme' }),
  fc.constantFrom(
    'files.read',
    'files:read',
    'files_read',
    '1st',
    `mcp__${'a'.repeat(60)}1`,
    `mcp__${'a'.repeat(60)}2`,
  ),
);
const idsFor = (names: readonly string[]): string[] => names.map((_, at) => `call_${'x'.repeat(80)}${at}`);

describe.each(PAIRS)('names of tools from $client to $upstream', ({ client, upstream }) => {
  it('are names that the target takes, each its own, the same in declarations, history and choice', () => {
    fc.assert(
      fc.property(fc.uniqueArray(toolName, { minLength: 1, maxLength: 5 }), (names) => {
        const { declared, used } = namesIn(translated(client, upstream, names, idsFor(names)).body);
        expect(new Set(declared).size).toBe(names.length);
        for (const name of declared) expect(name).toMatch(TAKEN[upstream]);
        expect(used.length).toBeGreaterThan(names.length);
        for (const name of used) expect(declared).toContain(name);
      }),
      { numRuns: runs(60) },
    );
  });

  it.each([false, true])('are those of the caller in the reply, streamed: %s', (stream) => {
    fc.assert(
      fc.property(fc.uniqueArray(toolName, { minLength: 1, maxLength: 4 }), (names) => {
        const { body, reply } = translated(client, upstream, names, idsFor(names));
        const { declared } = namesIn(body);
        const events = callsOf(declared);
        const format = formats[upstream];
        const decoding = restoringNames(format, reply.toolNames);
        const decode = (): readonly GenerationEvent[] => {
          if (!stream) return decoding.decodeReply(replyWith(format, events, clientContext()), reply);
          const decoder = decoding.decodeStream(reply);
          const encoder = format.encodeStream(clientContext());
          const bytes = encoder.pushBytes?.(events) ?? Buffer.from(encoder.push(events));
          return [...decoder.push(bytes), ...decoder.end()];
        };
        const called = decode().flatMap((event) => (event.type === 'tool_call' ? [event.name] : []));
        expect(called).toEqual(names);
      }),
      { numRuns: 40 },
    );
  });

  it('keep their alias when other tools come and go', () => {
    const name = `1st.${'x'.repeat(130)}`;
    const aliasAmong = (names: readonly string[]): string | undefined =>
      namesIn(translated(client, upstream, names, idsFor(names)).body).declared.at(names.indexOf(name));
    const alone = aliasAmong([name]);
    expect(alone).not.toBe(name);
    expect(aliasAmong(['first', `1st_${'x'.repeat(130)}`, name])).toBe(alone);
  });

  it('lose nothing that is reported', () => {
    expect(translated(client, upstream, ['1.a'], idsFor(['a'])).losses).toEqual([]);
  });

  it('have ids of calls that the target takes, one for a call and its result', () => {
    const names = ['a', 'b'];
    const { ids } = namesIn(translated(client, upstream, names, idsFor(names)).body);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(LONGEST_ID[upstream]);
    expect(new Set(ids).size).toBe(2);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
  });
});

function callsOf(names: readonly string[]): GenerationEvent[] {
  const calls = names.flatMap((name, call): GenerationEvent[] => [
    { type: 'tool_call', choice: 0, block: call, call, id: `call_${call}`, name },
    { type: 'tool_arguments', choice: 0, call, text: '{}' },
  ]);
  return [
    { type: 'start', model: 'm' },
    ...calls,
    { type: 'finish', choice: 0, reason: 'tool_calls' },
    { type: 'end' },
  ];
}

describe('a name made to be the alias of another', () => {
  it('stays itself, and the other gets an alias of its own', () => {
    const taken = aliasOf('files.read', { max: 64, illegal: /[^a-zA-Z0-9_-]/g });
    const { body, reply } = translated('gemini', 'openai-chat', ['files.read', taken], ['1', '2']);
    const { declared } = namesIn(body);
    expect(declared[1]).toBe(taken);
    expect(declared[0]).not.toBe(taken);
    expect([...(reply.toolNames ?? [])]).toEqual([[declared[0], 'files.read']]);
  });
});

describe('names and ids at a server that only resembles OpenAI', () => {
  it('keep long ids, whose form may be its own', () => {
    const [id] = idsFor(['a']);
    const { body } = finish(
      translateRequest(bodyWithTools('anthropic-messages', ['a'], [id!]), {
        client: formats['anthropic-messages'],
        upstream: formats['openai-chat'],
        target: requestTarget(),
        reply: replyContext(),
      }),
    );
    expect(namesIn(body).ids).toEqual([id, id]);
  });
});
