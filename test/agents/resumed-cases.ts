import type { Answer, Ask } from '../clients/upstream/ask.ts';
import { does, finished, says, type Case, type TurnOfRun } from './cases.ts';
import { SMALL_CONTEXT } from './upstreams.ts';

/**
 * Conversations that a second run of the agent continues. One fills the context: the agent requests a summary, and goes on with the
 * summary in place of the conversation.
 */

const SUMMARY = 'The user wants a command. The number that was said is secret: 7431.';
const OLD = '31415926';
/** Gemini CLI takes a text that repeats itself for a loop. */
const MORE = Array.from({ length: 300 }, (_, at) => at * 7).join(', ');
const MOST_TURNS = 6;

/** How Claude Code, Codex, Gemini CLI (twice) and opencode request a summary. */
const REQUEST =
  /create a detailed summary of |CONTEXT CHECKPOINT COMPACTION|<state_snapshot>|^Here is the conversation so far/;

/** How the gateway requests one, for a model of another API than the Responses API. */
const BY_GATEWAY = /Write a summary of it that replaces it/;

function model(_: Ask, { tools, nth, body }: TurnOfRun): Answer {
  if (nth === 0) return says(`The number is ${OLD}, then come ${MORE}.`);
  if (body.includes(SUMMARY))
    return says(body.includes(OLD) ? 'Lost: room, the old answer is still there.' : 'All came back: the summary.');
  if (nth > MOST_TURNS) return says('Lost: the summary.');
  return { ...does('', tools.shell(`echo step-${nth}`)), input: 0.95 * SMALL_CONTEXT };
}

const COMPACTION: Case = {
  name: 'compaction',
  title: 'a resumed conversation that fills the context',
  prompt: 'Say a number.',
  nextPrompt: 'Run a command, and say that all came back.',
  small: true,
  // Claude Code asks again for an answer without the tag.
  summary: ({ question }) => (REQUEST.test(question) ? says(`<summary>${SUMMARY}</summary>`) : undefined),
  model,
  verdict: finished,
  limitMs: 120_000,
};

export const RESUMED_CASES: readonly Case[] = [
  {
    name: 'resume',
    title: 'a resumed conversation with tools',
    prompt: 'Run a command.',
    nextPrompt: 'Say that all came back.',
    model({ results }, { nth, body, tools }) {
      if (nth === 0) return does('', tools.shell('printf night-%d 61'));
      if (nth === 1) return says(results?.[0]?.includes('night-61') ? 'It ran.' : 'Lost: the result.');
      return says(body.includes('night-61') ? 'All came back: the first run.' : 'Lost: the first run.');
    },
    verdict: finished,
  },
  COMPACTION,
  {
    ...COMPACTION,
    name: 'remote-compaction',
    title: 'the same with the provider name OpenAI: compaction by the gateway',
    only: { agent: 'codex' },
    summary: ({ question, compacts }) => (compacts || BY_GATEWAY.test(question) ? says(SUMMARY) : undefined),
    provider: 'OpenAI',
  },
];
