const MOST = 100;

/** A text of a caller or an upstream as an error or a loss quotes it: the text itself may have megabytes. */
export const shownText = (text: string, most = MOST): string => (text.length > most ? `${text.slice(0, most)}…` : text);
