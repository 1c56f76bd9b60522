/** How the search box ranks: a whole word before the beginning of one, a title before a text. The check of the site uses the same. */
export const searchOptions = {
  prefix: true,
  fuzzy: 0.1,
  boost: { title: 3, titles: 3, text: 1 },
  weights: { prefix: 0.2, fuzzy: 0.2 },
};
