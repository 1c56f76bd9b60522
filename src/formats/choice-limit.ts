/**
 * The most answers of one reply. APIs return up to 128. Each answer costs as much as one of some hundred bytes, even
 * when the upstream sends three bytes for it.
 */
export const MAX_CHOICES = 1024;
export const TOO_MANY_CHOICES = `it has more than ${MAX_CHOICES} answers`;
