// ArduinoJson 7, as far as the sketch reads JSON with it.
#pragma once
#include "Arduino.h"

class JsonVariant {
 public:
  JsonVariant operator[](const char* key) const;
  template <typename T>
  T as() const;
  template <typename T>
  bool is() const;
  template <typename T>
  T operator|(T fallback) const;
};

class JsonObject : public JsonVariant {};

class JsonArray {
 public:
  JsonObject* begin() const;
  JsonObject* end() const;
};

class JsonDocument {
 public:
  JsonVariant operator[](const char* key) const;
};

class DeserializationError {
 public:
  explicit operator bool() const;
  const char* c_str() const;
};

DeserializationError deserializeJson(JsonDocument& document, const byte* input, size_t size);
