import type { ComponentChildren } from 'preact';
import { FEATURES } from './features.ts';
import { Command } from './states.tsx';

interface TurnOnProps {
  readonly feature: keyof typeof FEATURES;
  readonly children: ComponentChildren;
}

/** A feature that is off: the lines of server.yaml that turn it on, to copy. */
export const TurnOn = ({ feature, children }: TurnOnProps) => (
  <details class="turn-on">
    <summary>{children}</summary>
    <p class="third">In server.yaml:</p>
    <Command text={FEATURES[feature]} label="Lines of server.yaml" />
  </details>
);
