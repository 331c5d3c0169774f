// Asks the browser for a passkey and sends its answer with the page's form. Everything else works without this file.
(() => {
  "use strict";

  for (const button of document.querySelectorAll("[data-print]")) {
    button.hidden = false;
    button.addEventListener("click", () => window.print());
  }

  const form = document.querySelector("form[data-passkey]");
  if (!form) return;
  const status = form.querySelector("[role=status]");
  const button = form.querySelector("button");
  const say = (text) => { status.textContent = text; };

  const decode = (text) => {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (c) => c.charCodeAt(0));
  };
  const encode = (buffer) => {
    let binary = "";
    for (const byte of new Uint8Array(buffer)) binary += String.fromCharCode(byte);
    return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const descriptors = (list) => (list || []).map((d) => ({ ...d, id: decode(d.id) }));

  const ask = async () => {
    const options = JSON.parse(form.dataset.options);
    options.challenge = decode(options.challenge);
    if (form.dataset.passkey === "create") {
      options.user.id = decode(options.user.id);
      options.excludeCredentials = descriptors(options.excludeCredentials);
      return navigator.credentials.create({ publicKey: options });
    }
    options.allowCredentials = descriptors(options.allowCredentials);
    return navigator.credentials.get({ publicKey: options });
  };

  const plain = (credential) => {
    const from = credential.response;
    const response = { clientDataJSON: encode(from.clientDataJSON) };
    if (from.attestationObject) {
      response.attestationObject = encode(from.attestationObject);
      response.transports = from.getTransports ? from.getTransports() : [];
    } else {
      response.authenticatorData = encode(from.authenticatorData);
      response.signature = encode(from.signature);
      if (from.userHandle) response.userHandle = encode(from.userHandle);
    }
    return { id: credential.id, rawId: encode(credential.rawId), type: credential.type, response, clientExtensionResults: {} };
  };

  const run = async () => {
    button.disabled = true;
    say(form.dataset.working);
    try {
      form.elements.answer.value = JSON.stringify(plain(await ask()));
      form.submit();
    } catch (error) {
      button.disabled = false;
      say(error.name === "InvalidStateError" ? form.dataset.known : form.dataset.failed);
    }
  };

  if (!window.PublicKeyCredential) {
    say(form.dataset.unsupported);
    return;
  }
  form.addEventListener("submit", (event) => { event.preventDefault(); run(); });
  run();
})();
