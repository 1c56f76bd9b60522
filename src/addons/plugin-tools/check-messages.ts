import type { PluginFinding } from '../../plugin/testing/finding.ts';

export interface CheckTask {
  readonly file: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface CheckedPlugin {
  readonly name: string;
  readonly level: string | undefined;
  readonly findings: readonly PluginFinding[];
}

/** A message of the process of a check. alive: its event loop turns. failed: the module has no plugins. */
export type CheckMessage =
  | { readonly kind: 'alive' | 'done' }
  | { readonly kind: 'plugins'; readonly names: readonly string[] }
  | ({ readonly kind: 'checked' } & CheckedPlugin)
  | { readonly kind: 'failed'; readonly message: string };
