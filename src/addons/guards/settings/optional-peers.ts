/** Packages that few guards need, and what an operator does without them. */
export const INSTALL = {
  jose: 'the check `jwt` needs the package `jose`: run `npm install jose@6` beside the gateway',
  'libphonenumber-js':
    'phones of `countries` need the package `libphonenumber-js`: run `npm install libphonenumber-js@1` beside the gateway',
} as const;
