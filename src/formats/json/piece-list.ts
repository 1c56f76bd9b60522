/** A piece of this length needs no company: its bytes take more memory than the objects around them. */
const SMALL = 4096;
/** This many small pieces in a row become one. */
const ROW = 64;

/**
 * Adds a piece to a list that is held, and joins rows of small ones. A chunk of one byte takes two hundred as a Buffer of its own
 * (measured), so a body of megabytes in such chunks would take gigabytes. Each byte is copied some thirty times at most.
 */
export function addPiece(pieces: Buffer[], piece: Buffer): void {
  pieces.push(piece);
  if (piece.length >= SMALL || pieces.length < ROW) return;
  // The pieces before a large one are never joined with it.
  for (let at = pieces.length - ROW; at < pieces.length - 1; at += 1) if (pieces[at]!.length >= SMALL) return;
  pieces.push(Buffer.concat(pieces.splice(-ROW)));
}
