import type { Answer, Ask, Call } from '../clients/upstream/ask.ts';
import { finished, NOTE, NOTED, thoughtFault, type Case, type Outcome } from './cases.ts';
import { CODEX_MODELS, codexAliasOf } from './upstreams.ts';

/** Codex brings tools of its own for the names that it knows: custom ones, ones in namespaces, and a search for more. */

type Step = Omit<Call, 'id'>;

const PATCH = `*** Begin Patch\n*** Add File: ${NOTE}\n+${NOTED}\n*** End Patch\n`;

/** What the model calls, one after the other, and what the last result has. */
const STEPS: Readonly<
  Record<(typeof CODEX_MODELS)[number], { readonly steps: readonly Step[]; readonly last: RegExp }>
> = {
  'gpt-5.5': {
    steps: [
      { name: 'apply_patch', kind: 'custom', args: { input: PATCH } },
      { name: 'tool_search', kind: 'search', args: { query: 'wait for an agent' } },
      // A tool that only the search names.
      { name: 'wait_agent', namespace: 'multi_agent_v1', args: { targets: [] } },
    ],
    last: /agent/i,
  },
  'gpt-5.6-sol': {
    steps: [
      {
        name: 'exec',
        namespace: 'functions',
        kind: 'custom',
        args: { input: `text((await tools.apply_patch(${JSON.stringify(PATCH)})));` },
      },
      { name: 'list_agents', namespace: 'collaboration', args: {} },
    ],
    last: /agent/i,
  },
};

/** Only the Responses API has namespaces: elsewhere the name of a tool includes that of its namespace. */
function named(step: Step, { tools }: Ask): Step {
  const whole = tools.find((name) => name === `${step.namespace}__${step.name}`);
  return whole === undefined ? step : { ...step, name: whole };
}

function model(alias: (typeof CODEX_MODELS)[number], ask: Ask): Answer {
  const { steps, last } = STEPS[alias];
  const next = steps[ask.rounds];
  const thought = ask.thinks ? 'A thought of the model.' : undefined;
  if (next)
    return {
      thought,
      text: '',
      calls: [{ ...named(next, ask), id: `call_${alias.replace(/\W/g, '_')}_${ask.rounds}` }],
    };
  const [result = ''] = ask.results ?? [];
  const kept = last.test(result) && !/unsupported/i.test(result);
  return { thought, text: kept ? 'All came back: the tools of Codex.' : `Lost: ${result.slice(0, 200)}.`, calls: [] };
}

const verdict = (alias: (typeof CODEX_MODELS)[number], outcome: Outcome): string | undefined => {
  const { turns, thought } = outcome;
  const wanted = STEPS[alias].steps.length + 1;
  return (
    finished(outcome) ??
    (turns === wanted ? undefined : `${turns} turns, not ${wanted}`) ??
    (outcome.note?.trim() === NOTED ? undefined : `the file has ${JSON.stringify(outcome.note)}`) ??
    (thought.kind === 'none' ? undefined : thoughtFault(thought))
  );
};

export const CODEX_NAMES: readonly Case[] = CODEX_MODELS.map((alias) => ({
  name: alias,
  title: `the name ${alias}: custom tools, namespaces${alias === 'gpt-5.5' ? ', tool search' : ''}`,
  only: { agent: 'codex' },
  alias: (kind) => codexAliasOf(kind, alias),
  prompt: 'Use your tools.',
  model: (ask) => model(alias, ask),
  verdict: (outcome) => verdict(alias, outcome),
}));
