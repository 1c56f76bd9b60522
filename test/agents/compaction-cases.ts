import type { Answer, Ask } from '../clients/upstream/ask.ts';
import { does, finished, says, type Case, type TurnOfRun } from './cases.ts';
import { SMALL_CONTEXT } from './upstreams.ts';

/** A conversation that fills the context: the agent requests a summary, and goes on with the summary in place of the conversation. */

const SUMMARY = 'The user wants two commands. The first one has printed its lines: 7431.';
const OLD = '31415926';
const MOST_TURNS = 6;

/** How the agents request a summary: Claude Code, Codex, Gemini CLI (twice), opencode. */
const REQUEST =
  /create a detailed summary of |CONTEXT CHECKPOINT COMPACTION|<state_snapshot>|^Here is the conversation so far/;

function model({ results }: Ask, { tools, nth, body }: TurnOfRun): Answer {
  if (nth === 0) return does('', tools.shell(`echo ${OLD}; seq 1000 1200`));
  if (nth === 1) return says(results?.[0]?.includes(OLD) ? 'The first one is done.' : 'Lost: the first result.');
  if (body.includes(SUMMARY))
    return says(body.includes(OLD) ? 'Lost: room, the first result is still there.' : 'All came back: the summary.');
  if (nth > MOST_TURNS) return says('Lost: the summary.');
  return { ...does('', tools.shell(`echo step-${nth}`)), input: 0.95 * SMALL_CONTEXT };
}

export const COMPACTION_CASES: readonly Case[] = [
  {
    name: 'compaction',
    title: 'a resumed conversation that fills the context',
    prompt: 'Run a command.',
    then: 'Run another command, and say that all came back.',
    small: true,
    limitMs: 120_000,
    // Claude Code asks again for an answer without the tag.
    summary: ({ question }) => (REQUEST.test(question) ? says(`<summary>${SUMMARY}</summary>`) : undefined),
    model,
    verdict: finished,
  },
];
