import type { AddOn } from '../../core/commands/add-on.ts';

/** Traces, metrics and logs over OTLP. */
export const otlp: AddOn = {
  name: 'otlp',
  parts: () => import('./parts.ts'),
};
