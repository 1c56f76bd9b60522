export const Why = ({ id }: { readonly id: string }) => <p>{id}</p>;
