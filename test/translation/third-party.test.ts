import { describe, expect, it } from 'vitest';
import { UPSTREAMS } from './cases/case.ts';
import { CASES, type WholeCase } from './cases/index.ts';
import { differences } from './compare.ts';
import { CLAUDE_DIFFERENCES } from './differences-claude.ts';
import { CLAUDE_ON_VERTEX_DIFFERENCES } from './differences-claude-on-vertex.ts';
import { GEMINI_DIFFERENCES } from './differences-gemini.ts';
import { LANGCHAIN_DIFFERENCES } from './differences-langchain.ts';
import { MESSAGES_TO_GEMINI_DIFFERENCES } from './differences-messages-gemini.ts';
import { MESSAGES_TO_LLAMA_DIFFERENCES, MESSAGES_TO_OPENAI_DIFFERENCES } from './differences-messages-openai.ts';
import { explains, type Rule } from './differences.ts';
import { translateFor } from './goldens.ts';
import type { Client, Json } from './outbound.ts';
import { recordTurns } from './langchain-record.ts';
import { record, type Recorded } from './sdk-record.ts';
import type { Family } from './sdk-words.ts';
import { reworded, SPELLINGS, type Spelling } from './spellings.ts';

interface Comparison {
  readonly client: Client;
  readonly family: Family;
  readonly rules: readonly Rule[];
  /** Rules of another comparison that hold here too; one that explains nothing here is no fault. */
  readonly borrowed?: readonly Rule[];
  readonly models?: (one: WholeCase) => readonly string[];
  /** Cases the library can express at the least. */
  readonly least: number;
  /** Default: the AI SDK. */
  readonly record?: (family: Family, model: string, one: WholeCase) => Promise<Recorded>;
  /** What of a body is compared; default: all of it. */
  readonly see?: (body: Json) => unknown;
  readonly subjects?: RegExp;
}

/** What Claude at Anthropic is asked for, asked of Claude on Vertex AI; and its own cases. */
const onVertex = ({ models }: WholeCase): readonly string[] => [
  ...models.claudeOnVertex,
  ...models.claude.map((model) => `anthropic.${model}`),
];

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  'chat for Gemini': { client: 'chat', family: 'gemini', rules: GEMINI_DIFFERENCES, least: 180 },
  'chat for Claude': { client: 'chat', family: 'claude', rules: CLAUDE_DIFFERENCES, least: 180 },
  'chat for Claude on Vertex AI': {
    client: 'chat',
    family: 'claudeOnVertex',
    rules: CLAUDE_ON_VERTEX_DIFFERENCES,
    borrowed: CLAUDE_DIFFERENCES,
    models: onVertex,
    least: 180,
  },
  'Messages for Gemini': { client: 'messages', family: 'gemini', rules: MESSAGES_TO_GEMINI_DIFFERENCES, least: 70 },
  'Messages for OpenAI': { client: 'messages', family: 'openai', rules: MESSAGES_TO_OPENAI_DIFFERENCES, least: 60 },
  'Messages for Llama': { client: 'messages', family: 'llama', rules: MESSAGES_TO_LLAMA_DIFFERENCES, least: 30 },
  'the turns of Messages for OpenAI, by LangChain': {
    client: 'messages',
    family: 'openai',
    rules: LANGCHAIN_DIFFERENCES,
    least: 30,
    record: (_family, model, { request }) => recordTurns(model, request),
    see: ({ messages }) => ({ messages }),
    subjects: /^anthropic-(turns|rounds|blocks)\//,
  },
};

interface Compared {
  readonly cases: ReadonlySet<string>;
  readonly unexplained: readonly string[];
  readonly stale: readonly string[];
  readonly spelled: ReadonlySet<Spelling>;
}

/** All cases of a comparison through both translators. */
async function compareAll(comparison: Comparison): Promise<Compared> {
  const { client, family, rules, borrowed = [], models, record: recorded = record, see, subjects = /./ } = comparison;
  const cases = new Set<string>();
  const unexplained: string[] = [];
  const used = new Set<Rule>();
  const spelled = new Set<Spelling>();
  for (const one of CASES.filter((candidate) => candidate.client === client && subjects.test(candidate.id)))
    for (const model of models?.(one) ?? one.models[family]) {
      const theirs = await recorded(family, model, one);
      if ('unspoken' in theirs) continue;
      cases.add(one.id);
      const ours = await translateFor(UPSTREAMS[family], model, one);
      for (const { path, ...values } of differences(bodyOf(ours, see), reworded(bodyOf(theirs), family, spelled))) {
        const found = [...rules, ...borrowed].filter((rule) => explains(rule, { id: one.id, model, path }));
        for (const rule of found) used.add(rule);
        if (found.length === 0) unexplained.push(`${one.id}, ${model}, ${path}: ${JSON.stringify(values)}`);
      }
    }
  return { cases, unexplained, spelled, stale: rules.filter((rule) => !used.has(rule)).map(({ reason }) => reason) };
}

/** Where one refuses and the other sends, that is the difference, not all that is sent. */
const bodyOf = (
  outcome: { readonly body: Json } | { readonly refused: unknown },
  see: (body: Json) => unknown = (body) => body,
): unknown => ('refused' in outcome ? REFUSED : see(outcome.body));
const REFUSED = Symbol('refused');

const compared = Object.entries(COMPARISONS).map(
  ([title, comparison]) => [title, comparison.least, compareAll(comparison)] as const,
);

describe.each(compared)('a third party, given the same requests (%s),', (_, least, comparison) => {
  it('can express most of them', async () => {
    expect((await comparison).cases.size).toBeGreaterThanOrEqual(least);
  });

  it('sends the same, but for what has a written reason', async () => {
    expect((await comparison).unexplained).toEqual([]);
  });

  it('leaves no reason without a difference', async () => {
    expect((await comparison).stale).toEqual([]);
  });
});

it('leaves nothing reworded that the AI SDK does not say', async () => {
  const spelled = new Set((await Promise.all(compared.map(([, , one]) => one))).flatMap((one) => [...one.spelled]));
  expect(SPELLINGS.filter((spelling) => !spelled.has(spelling)).map(({ reason }) => reason)).toEqual([]);
});
