variable "project" {
  type        = string
  description = "The project of the buckets."
}

variable "region" {
  type        = string
  description = "The region of the Kafka cluster, such as us-central1."
}

variable "zones" {
  type        = list(string)
  description = "The zones that brokers are in, such as us-central1-a. Each gets a bucket."

  validation {
    condition     = length(var.zones) == 3 && length(distinct(var.zones)) == 3
    error_message = "Three different zones: with fewer, the loss of one stops the writers."
  }
}

variable "name" {
  type        = string
  default     = "walbridge"
  description = "The first part of the buckets' names, unique in the world, and the service account's id."

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.name))
    error_message = "6 to 30 lower-case letters, digits and hyphens."
  }
}
