import type { ComponentChildren } from 'preact';

export type Tone = 'ok' | 'warning' | 'failed' | 'running' | 'plain';

/** A state is a colour, a word and a dot: never a colour alone. */
export const Chip = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`chip ${tone}`}>
    <i class="dot" />
    <span class="cut">{children}</span>
  </span>
);

const STATES: readonly (readonly [Tone, readonly string[]])[] = [
  ['ok', ['complete', 'success', 'closed', 'active', 'delivered', 'passed', 'released']],
  ['warning', ['rescued', 'half_open', 'aborted', 'waiting']],
  ['failed', ['failed', 'error', 'open', 'expired', 'revoked', 'lost']],
  ['running', ['running']],
];
const TONES = new Map(STATES.flatMap(([tone, states]) => states.map((state) => [state, tone] as const)));

export const toneOf = (state: string): Tone => TONES.get(state) ?? 'plain';
