export const Providers = () => <p>Providers</p>;
