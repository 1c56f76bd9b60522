/** A position in a settings file. Lines and columns count from 1. */
export interface FilePlace {
  /** The path that opens the file: the settings folder as the user named it, then the file. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Diagnostic extends FilePlace {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly suggestion?: string;
}

/** A diagnostic about a file or a folder as a whole. */
export const aboutFile = (file: string, message: string, severity: Diagnostic['severity'] = 'error'): Diagnostic => ({
  file,
  line: 1,
  column: 1,
  severity,
  message,
});

export type DiagnosticFormat = 'pretty' | 'json' | 'github';

/** Sorts by position and removes duplicates: an anchor used by several aliases reports its errors once for each. */
export function sortDiagnostics(diagnostics: Iterable<Diagnostic>): Diagnostic[] {
  const byText = new Map<string, Diagnostic>();
  for (const diagnostic of diagnostics) byText.set(describe(diagnostic), diagnostic);
  return [...byText.values()].sort(
    (a, b) =>
      compareText(a.file, b.file) || a.line - b.line || a.column - b.column || compareText(a.message, b.message),
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** `configs/server.yaml:3:5: unknown key `prot`; did you mean "port"?` */
export function describe(diagnostic: Diagnostic): string {
  const { file, line, column, severity } = diagnostic;
  return `${file}:${line}:${column}: ${severity === 'warning' ? 'warning: ' : ''}${sentence(diagnostic)}`;
}

const sentence = ({ message, suggestion }: Diagnostic): string =>
  suggestion === undefined ? message : `${message}; did you mean "${suggestion}"?`;

export function formatDiagnostics(diagnostics: readonly Diagnostic[], format: DiagnosticFormat): string {
  if (format === 'json') {
    const count = (severity: Diagnostic['severity']) => diagnostics.filter((one) => one.severity === severity).length;
    return `${JSON.stringify({ errors: count('error'), warnings: count('warning'), diagnostics }, null, 2)}\n`;
  }
  return diagnostics.map((one) => `${format === 'github' ? githubCommand(one) : describe(one)}\n`).join('');
}

/** A workflow command of GitHub Actions, which escapes `%`, CR and LF in the message, and also `:` and `,` in properties. */
function githubCommand(diagnostic: Diagnostic): string {
  const { severity, file, line, column } = diagnostic;
  const message = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => message(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${severity} file=${property(file)},line=${line},col=${column}::${message(sentence(diagnostic))}`;
}

/** The settings cannot be used; `diagnostics` holds the reasons and their positions. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
  readonly diagnostics: readonly Diagnostic[];
  constructor(diagnostics: readonly Diagnostic[]) {
    super('The settings have errors.');
    this.diagnostics = diagnostics;
  }
}
