import type { ComponentChildren } from 'preact';

export type Tone = 'ok' | 'warning' | 'failed' | 'running' | 'plain';

/** A state is a colour, a word and a dot: never a colour alone. */
export const Chip = ({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) => (
  <span class={`chip ${tone}`}>
    <i class="dot" />
    <span class="cut">{children}</span>
  </span>
);

const TONES: Readonly<Record<string, Tone>> = {
  complete: 'ok',
  success: 'ok',
  closed: 'ok',
  active: 'ok',
  rescued: 'warning',
  half_open: 'warning',
  aborted: 'warning',
  failed: 'failed',
  error: 'failed',
  open: 'failed',
  expired: 'failed',
  revoked: 'failed',
  running: 'running',
};

export const toneOf = (state: string): Tone => TONES[state] ?? 'plain';
