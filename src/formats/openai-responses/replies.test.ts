import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { formats } from '../index.ts';
import { clientContext, replyContext, replyWith } from '../contexts.testkit.ts';
import { expectOneTerminal, expectRechunkingKeepsEvents, joinedParts } from '../laws.testkit.ts';
import { generation, seed, toEvents, type Abilities } from '../generations.testkit.ts';
import { fold } from '../streams/fold.ts';
import { accumulated, eventsOf, withoutHelpers } from './sdk.testkit.ts';
import { runs } from '../../../test/support/effort.ts';

const responses = formats['openai-responses'];
const client = clientContext({ id: 'resp_0123456789abcdef0123456789abcdef', ownId: true });
const streamOf = (events: readonly GenerationEvent[]): string => {
  const encoder = responses.encodeStream(client);
  return events.map((event) => encoder.push([event])).join('');
};

const OWN: Abilities = {
  thinking: true,
  signatures: true,
  thoughtsBy: 'openai',
  mcp: true,
  refusal: true,
  cacheUsage: true,
};
const ALL: Abilities = {
  thinking: true,
  redacted: true,
  signatures: true,
  textSignatures: true,
  callSignatures: true,
  media: true,
  mcp: true,
  refusal: true,
  cacheUsage: true,
};

describe('a response', () => {
  it('is the same plain and streamed, as the SDK of OpenAI assembles it', async () => {
    await fc.assert(
      fc.asyncProperty(generation(ALL), seed, async (reply, cuts) => {
        const plain: unknown = JSON.parse(JSON.stringify(replyWith(responses, toEvents(reply), client)));
        expect(withoutHelpers(await accumulated(streamOf(toEvents(reply, cuts))))).toEqual(withoutHelpers(plain));
      }),
      { numRuns: runs(60) },
    );
  });

  it('numbers its events from 0 and announces each item before it ends it', () => {
    fc.assert(
      fc.property(generation(ALL), seed, (reply, cuts) => {
        const events = eventsOf(streamOf(toEvents(reply, cuts)));
        expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
        const added = events.filter(({ type }) => type === 'response.output_item.added');
        const done = events.filter(({ type }) => type === 'response.output_item.done');
        expect(done.map(({ output_index: at }) => at)).toEqual(added.map((_, at) => at));
      }),
      { numRuns: runs(60) },
    );
  });

  it('is read back as it was written, whatever the split of its bytes', () => {
    fc.assert(
      fc.property(generation(OWN), seed, (reply, cuts) => {
        const bytes = Buffer.from(streamOf(toEvents(reply, cuts)));
        const events = expectRechunkingKeepsEvents(() => responses.decodeStream(replyContext()), bytes, cuts);
        expectOneTerminal(events);
        const plain = responses.decodeReply(replyWith(responses, toEvents(reply), client), replyContext());
        const seen = [events, plain, toEvents(reply)].map((list) => {
          const { usage, choices } = fold(list);
          const parts = joinedParts(fold(list)).map((all) =>
            all.filter((part) => !('text' in part && part.text === '')),
          );
          return {
            usage,
            parts,
            refusal: choices.map(({ refusal }) => refusal),
            finish: choices.map(({ finish }) => finish),
          };
        });
        expect(seen[0]).toEqual(seen[1]);
        expect(seen[1]?.usage).toEqual(seen[2]?.usage);
        expect(seen[1]?.refusal).toEqual(seen[2]?.refusal);
      }),
      { numRuns: runs(100) },
    );
  });
});

it('a call without arguments has them as a piece, as in the stream of OpenAI', () => {
  const call = { type: 'tool_call', choice: 0, block: 0, call: 0, id: 'c1', name: 'draw' } as const;
  const end = [{ type: 'finish', choice: 0, reason: 'tool_calls' }, { type: 'end' }] as const;
  const events = eventsOf(streamOf([{ type: 'start', model: 'm' }, call, ...end]));
  const ofArguments = events.filter(({ type }) => String(type).includes('arguments'));
  expect(ofArguments.map(({ type, delta, arguments: whole }) => [type, delta ?? whole])).toEqual([
    ['response.function_call_arguments.delta', '{}'],
    ['response.function_call_arguments.done', '{}'],
  ]);
});

describe('a cut stream', () => {
  it.each(['', 'event: response.created\ndata: {"type":"response.created","response":{}}\n\n', ': ping\n\n'])(
    'is an error: %j',
    (sse) => {
      const decoder = responses.decodeStream(replyContext());
      const events = [...decoder.push(Buffer.from(sse)), ...decoder.end()];
      expect(events.at(-1)).toMatchObject({ type: 'error', failure: { kind: 'stream_interrupted' } });
    },
  );
});
