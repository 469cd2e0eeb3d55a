#pragma once

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

// Swift would take the name for our own type `HMAC`. A null key means "the key from before" to some versions.
static inline int crypto_hmac(
    const EVP_MD *digest, const void *key, int key_count, const unsigned char *data, size_t count,
    unsigned char *out)
{
    return HMAC(digest, key ? key : "", key_count, data, count, out, 0) != 0;
}

// EVP_CIPHER_CTX_ctrl's commands are macros without a type.
static inline int crypto_get_tag(EVP_CIPHER_CTX *context, int count, void *tag)
{
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, count, tag);
}

static inline int crypto_set_tag(EVP_CIPHER_CTX *context, int count, void *tag)
{
    return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, count, tag);
}
