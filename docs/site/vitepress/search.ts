/** Words of questions that say nothing about their answer. The browser gets the source of a function: it can name nothing outside. */
const processTerm = (term: string): string | null => {
  const word = term.toLowerCase();
  const stops =
    / (?:a|an|and|are|at|be|but|by|can|did|do|does|for|from|has|have|how|i|in|is|it|me|my|of|on|or|that|the|this|to|was|what|when|where|which|who|why|will|with) /;
  return stops.test(` ${word} `) ? null : word;
};

/** How the search box ranks: a whole word before the beginning of one, a title before a text. */
export const searchOptions = {
  processTerm,
  prefix: true,
  fuzzy: 0.1,
  boost: { title: 3, titles: 3, text: 1 },
  weights: { prefix: 0.2, fuzzy: 0.2 },
};
