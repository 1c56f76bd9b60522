import type { Diagnostic } from './diagnostic.ts';

/** The settings cannot be used; `diagnostics` says why, each with its place. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostics: readonly Diagnostic[]) {
    super('The settings have errors.');
    this.diagnostics = diagnostics;
  }
}
