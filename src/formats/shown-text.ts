const MOST = 100;

/** A text of a caller or an upstream, shortened for an error or a loss: the text itself may have megabytes. */
export const shownText = (text: string, most = MOST): string => (text.length > most ? `${text.slice(0, most)}…` : text);
