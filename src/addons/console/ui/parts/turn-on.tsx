import type { ComponentChildren } from 'preact';
import { Command } from './states.tsx';

/** Lines of server.yaml that turn a feature on. */
export const FEATURES = {
  store: 'state:\n  store: { type: sqlite, dir: /var/lib/gatehouse/state }',
  records: 'state:\n  store: { type: sqlite, dir: /var/lib/gatehouse/state }\n  records: { days: 7 }',
  explain: 'admin:\n  explain: all',
} as const;

/** A feature that is off: the lines of server.yaml that turn it on, to copy. */
export const TurnOn = ({
  lines,
  children,
}: {
  readonly lines: (typeof FEATURES)[keyof typeof FEATURES];
  readonly children: ComponentChildren;
}) => (
  <details class="turn-on">
    <summary>{children}</summary>
    <Command text={lines} label="Lines of server.yaml" />
  </details>
);
