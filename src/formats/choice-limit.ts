/**
 * The most answers of one reply. APIs make up to 128; each costs what an answer of some hundred bytes does, also where the upstream
 * needs three bytes for it.
 */
export const MAX_CHOICES = 1024;
export const TOO_MANY_CHOICES = `it has more than ${MAX_CHOICES} answers`;
