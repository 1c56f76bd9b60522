/** The outputs of a command: `out` for results, `err` for problems. */
export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface Terminal {
  readonly columns: number;
}

export interface ShowOptions extends Output {
  readonly json: boolean;
  readonly colour: boolean;
  readonly terminal: Terminal | undefined;
}

/** The command for lines to paste. npm sets these variables. Without them it is `npx gatehouse`, as in the pages: the command is rarely on the PATH. */
export function calledAs(env: Readonly<Record<string, string | undefined>>): string {
  const script = env['npm_lifecycle_event'];
  const isOwnStart = script === 'start' && env['npm_package_name'] === 'gatehouse-gateway';
  const isScript = env['npm_command'] !== 'exec' && (script === 'gatehouse' || isOwnStart);
  return isScript ? 'npm run -s gatehouse --' : 'npx gatehouse';
}

/** Quotes text as one word of a shell command. Shells read brackets, as of an IPv6 address, as a pattern. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Colours are for a terminal that shows them: https://no-color.org. */
export const showsColour = ({
  terminal,
  env,
}: {
  readonly terminal: Terminal | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}): boolean => terminal !== undefined && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
