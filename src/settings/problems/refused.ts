import type { Diagnostic } from './diagnostic.ts';

/** The settings cannot be used; `diagnostics` holds the reasons and their positions. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostics: readonly Diagnostic[]) {
    super('The settings have errors.');
    this.diagnostics = diagnostics;
  }
}
