import type { ComponentChildren } from 'preact';
import { Command } from './states.tsx';
import type { FEATURES } from './features.ts';

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
