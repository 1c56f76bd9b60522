import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accumulated } from '../../src/formats/openai-responses/sdk.testkit.ts';
import type { Expected } from './check-messages.ts';
import { errorFindings } from './error-findings.ts';
import { expectedOfOpenAi } from './expected-messages.ts';
import { corpusIsThere, forAll, judges, modelOf, ReplayedFamily, type Judges, type Recording } from './recordings.ts';
import { callsOf, isComplete, textOf, type Shown } from './shown-response.ts';

/** Families of other APIs, by the number of their records that a client of the Responses API asks for, each as a stream. */
const FAMILIES = [
  ['anthropic', 430],
  ['vertex-anthropic', 3],
  ['gemini', 300],
  ['vertex-gemini', 100],
  ['openai-chat', 310],
] as const;

/** Counts of tokens, which the families have too, are no replies. */
const GENERATIONS: ReadonlySet<string> = new Set([
  'messages',
  'streamRawPredict',
  'generateContent',
  'streamGenerateContent',
  'chat.completions',
]);

/** A record that breaks a rule of its own API, so that its translation has none to keep. */
const isFaulty = ({ id, features = [] }: Recording): boolean =>
  // Its first message never ends, and a second one begins.
  id === 'ant-a3d8b34b26' ||
  // Enums as numbers are a mode of Google's clients in Python's gRPC library, which no translated request asks for.
  features.includes('enum_int');

/** Records that hold several messages, one after the other: the SDK has to read them, and their texts are compared nowhere. */
const SEVERAL = new Set(['ant-010fbdd7d2', 'ant-012f5149ff', 'ant-887bf8d0ab']);

/** The first answer of a record. */
interface Wanted {
  readonly text: string;
  readonly calls: readonly (readonly [string, unknown])[];
  /** The arguments came in pieces that the shared checker does not assemble. */
  readonly namesOnly?: boolean | undefined;
  /** There is more that may become text, such as the transcript of sound. */
  readonly more?: boolean | undefined;
  readonly fails?: boolean;
}
interface Derived {
  readonly applicable: boolean;
  readonly streamError?: string;
  readonly choices: readonly {
    readonly text: readonly string[];
    readonly tools: Expected['tools'];
    readonly partial?: boolean;
    readonly otherBlocks: readonly string[];
  }[];
}

function wantedOf(record: Recording, { derive }: Judges): Wanted | undefined {
  const callsIn = (tools: Expected['tools']) => tools.map(({ name, args }) => [name, args] as const);
  if (record.family === 'openai-chat') {
    const { texts, tools, moreText } = expectedOfOpenAi(record);
    return { text: texts.join(''), calls: callsIn(tools), more: moreText };
  }
  const { applicable, streamError, choices } = derive(record) as unknown as Derived;
  if (!applicable) return undefined;
  const [choice] = choices;
  return {
    text: choice?.text.join('') ?? '',
    calls: callsIn(choice?.tools ?? []),
    namesOnly: choice?.partial,
    more: (choice?.otherBlocks ?? []).length > 0,
    fails: streamError !== undefined,
  };
}

function isWanted({ text, calls, namesOnly, more }: Wanted, response: Shown): boolean {
  const found = callsOf(response);
  const sameCalls = namesOnly
    ? isDeepStrictEqual(
        found.map(([name]) => name),
        calls.map(([name]) => name),
      )
    : isDeepStrictEqual(found, calls);
  return sameCalls && (more ? textOf(response).includes(text) : textOf(response) === text);
}

describe.skipIf(!corpusIsThere).each(FAMILIES)('recorded replies of %s', (name, least) => {
  let family: ReplayedFamily;
  beforeAll(async () => {
    family = await ReplayedFamily.open(name);
  });
  afterAll(() => family.close());

  it(
    'come out as responses that the SDK of OpenAI assembles, with the recorded text and calls',
    { timeout: 300_000 },
    async () => {
      const judge = await judges();
      const records = family.records.filter((record) => GENERATIONS.has(record.op) && !isFaulty(record));
      expect(records.length).toBeGreaterThanOrEqual(least);
      const findings = await forAll<Recording, object>(records, async (record) => {
        const { id } = record;
        const answer = await family.ask('/v1/responses', {
          model: modelOf(record),
          input: 'replay',
          stream: true,
          reasoning: { effort: 'low', summary: 'auto' },
          max_output_tokens: 4096,
        });
        if (record.response_status >= 400) return errorFindings(record, answer);
        const { status, sse, body } = answer;
        if (sse === undefined) return [{ id, status, body }];
        try {
          const response = (await accumulated(sse)) as Shown;
          const wanted = wantedOf(record, judge);
          if (wanted?.fails ? response.status !== 'failed' : !isComplete(response)) return [{ id, response }];
          const isRight = wanted ? isWanted(wanted, response) : SEVERAL.has(id);
          return isRight ? [] : [{ id, wanted, response }];
        } catch (error) {
          return [{ id, error: String(error) }];
        }
      });
      expect(findings).toEqual([]);
    },
  );
});
