import type { ComponentChildren } from 'preact';

const TONES = ['ok', 'warning', 'failed', 'running', 'plain'] as const;
export type Tone = (typeof TONES)[number];

/** A state is a colour, a word and a dot: never a colour alone. */
export const Chip = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`chip ${tone}`}>
    <i class="dot" />
    <span class="cut">{children}</span>
  </span>
);

const STATES: Readonly<Record<Tone, string>> = {
  ok: 'complete success closed active',
  warning: 'rescued half_open aborted',
  failed: 'failed error open expired revoked',
  running: 'running',
  plain: '',
};

export const toneOf = (state: string): Tone => TONES.find((tone) => STATES[tone].split(' ').includes(state)) ?? 'plain';
