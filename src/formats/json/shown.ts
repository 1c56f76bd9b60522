const MOST = 100;

/** A text of a caller or an upstream as an error or a loss quotes it: the text itself may have megabytes. */
export const shownText = (text: string, most = MOST): string => (text.length > most ? `${text.slice(0, most)}…` : text);

/** A place in a JSON value, as OpenAI writes `param`: `tools[3].parameters`; `''` for the value itself. A number is an item of a list. */
export function shownPath(steps: readonly (string | number)[], most: number): string {
  let path = '';
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`;
    else path += path === '' ? step : `.${step}`;
  }
  return shownText(path, most);
}
